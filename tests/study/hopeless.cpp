#include "config.h"
#error "no compiler can build this"
