import ipaddr from 'ipaddr.js'

/** Whether an IP address is one of the internet: not of this machine, a private network or a special purpose. */
export function isPublicAddress(address: string): boolean {
  try {
    return ipaddr.process(address.split('%')[0] ?? '').range() === 'unicast'
  } catch {
    return false
  }
}
