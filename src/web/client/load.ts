import { contextNow } from './chrome.ts'
import { request } from './request.ts'

/** The JSON at a path of the service; undefined if it does not send it. */
export async function loadJson<T>(path: string): Promise<T | undefined> {
  try {
    const response = await request(contextNow().root + path)
    return response.ok ? ((await response.json()) as T) : undefined
  } catch {
    return undefined
  }
}
