// The ring of this kernel's stages.
#pragma once

#include "ptx/pipeline.cuh"
#include "tile.cuh"

using Cursor = RingCursor<STAGES>;
using Pipeline = RingPipeline<STAGES>;
