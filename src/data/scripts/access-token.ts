import { UpstreamError } from './upstream-error.ts'

/**
 * Sends requests with an access token; once more with a new one if it is rejected, because it may have expired during the run.
 * @param renew returns a new token
 * @param describe the error of a request that failed
 */
export function withAccessToken(renew: () => Promise<string>, describe = (error: UpstreamError): Error => error) {
  let token: string | undefined
  return async function send<T>(request: (authorization: string) => Promise<T>, isRepeated = false): Promise<T> {
    token ??= await renew()
    try {
      return await request(`Bearer ${token}`)
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error
      if (error.status !== 401 || isRepeated) throw describe(error)
      token = undefined
      return send(request, true)
    }
  }
}
