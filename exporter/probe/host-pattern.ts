import { wildcard } from '../../src/util/wildcard.ts'

/** A matcher for host names: `*` matches any characters, including dots; letter case is ignored. */
export function hostPattern(pattern: string): (host: string) => boolean {
  const matches = wildcard(pattern.toLowerCase())
  return (host) => matches(host.toLowerCase().replace(/\.$/, ''))
}
