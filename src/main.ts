#!/usr/bin/env node
// A static import of the program would be loaded before the check.
import '#check-node'

const { runProcess } = await import('./commands/program.ts')
await runProcess()
