#include <no_such_library.h>
