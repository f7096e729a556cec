// The words that the generated config.h and the Hopper kernel share.
#pragma once

// Who copies and who multiplies.
enum class Roles {
    none,         // every warp group does both, in turn
    cooperative,  // a producer copies; the consumers split each tile
    pingpong,     // a producer copies; two consumers take tiles in turn
};
