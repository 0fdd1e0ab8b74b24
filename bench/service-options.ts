/** Options of Node.js for the measured process: those of `npm start`, and further ones, such as `--cpu-prof`. */
export const serviceOptions: readonly string[] = [
  '--v8-pool-size=1',
  ...(process.env.BENCH_NODE_OPTIONS ?? '').split(' ').filter(Boolean),
]
