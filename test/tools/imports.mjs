/**
 * What dependency-cruiser reads in the check, and for the diagram of the folders. Only the first of them reads all files, for six
 * seconds of CPU time: the other takes the result from the cache, which depends on the content of each.
 */
export const importArguments = [
  ...['src', 'exporter', 'grafana/src'],
  ...['--cache', 'node_modules/.cache/dependency-cruiser', '--cache-strategy', 'content'],
]
