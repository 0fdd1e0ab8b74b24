#!/usr/bin/env node
// A static import of the program would be loaded before the check.
import '#check-node'

await import('./commands/program.ts')
