/**
 * A module of the service as published. tsx adds code that sets the name of every function that is created, and a poll creates
 * many; minecraft-server-util does not have that cost.
 */
export function built<T>(path: string): Promise<T> {
  return import(new URL(`../dist/src/${path}`, import.meta.url).href)
}
