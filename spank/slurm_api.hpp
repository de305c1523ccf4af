// Slurm's plugin interface. spank.h declares the hooks outside its own extern "C" block, so the whole header goes in
// one; its functions come from the program that loads the plugin (srun, sbatch, salloc, slurmd, slurmstepd), never from
// a library of ours.
#pragma once

extern "C" {
#include <slurm/spank.h>
}
