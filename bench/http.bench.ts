import { againstBare } from './against-bare.ts'
import type { BenchOptions } from './main.ts'

export const run = (options: BenchOptions): Promise<void> => againstBare('/api/v1/getall', 0.85, options)
