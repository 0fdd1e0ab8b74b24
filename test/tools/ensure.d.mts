/** Installs a folder that has a lock file of its own (`test/peers`) unless it is installed already as the lock file says. */
export function ensure(name: string): void
