import { executionAsyncResource } from 'node:async_hooks'
import { setFlagsFromString } from 'node:v8'

/** What process.nextTick() makes for each call; see below. */
const kept: object[] = []

/**
 * Keeps the JavaScript engine from two guesses that are wrong for a large start with small requests after it, and that last
 * as long as the process. Both were measured in Node.js 20; to newer releases they make no difference.
 */
export function settleEngine(): void {
  // Objects of a kind that lived when the collector looked are from then on made as old ones. When it happens to look at the
  // first requests, everything that later ones make is collected ten times as slowly.
  setFlagsFromString('--no-allocation-site-pretenuring')
  // The shape of an object is forgotten when no such object is left. If that happens to the objects of nextTick, of which each
  // request makes several, they are made the slow way ever after: a fifth of a whole request.
  process.nextTick(() => kept.push(executionAsyncResource()))
}
