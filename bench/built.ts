/**
 * A module of the service as it is published. What tsx makes of the sources names every function anew each time it is made, and
 * a poll makes many; minecraft-server-util is not held to that.
 */
export function built<T>(path: string): Promise<T> {
  return import(new URL(`../dist/src/${path}`, import.meta.url).href)
}
