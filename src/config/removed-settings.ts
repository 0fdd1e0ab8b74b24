/** Settings of earlier versions: the variable, the key in the config file, and what to do instead. */
export const removedSettings = [
  { env: 'WORKERS', file: 'workers', instead: 'run replicas instead, see docs/replicas.md' },
] as const
