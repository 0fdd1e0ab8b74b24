import { againstBare } from './against-bare.ts'

export const run = (): Promise<void> => againstBare('/api/v1/getall', 0.85)
