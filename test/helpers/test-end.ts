import { AsyncLocalStorage } from 'node:async_hooks'
import { aroundEach, onTestFinished as onCurrentTestFinished, type TestContext } from 'vitest'

const running = new AsyncLocalStorage<TestContext>()

/**
 * To be called where tests run concurrently, so that `onTestFinished` below belongs to the test that calls it: that of vitest belongs to
 * the one that started last. A concurrent test that uses `expect.poll()` takes `expect` from its context.
 */
export const separateTestEnds = (): void => aroundEach((run, context) => running.run(context, run))

/** That of vitest, also in concurrent tests. */
export const onTestFinished: TestContext['onTestFinished'] = (action, timeout) =>
  (running.getStore()?.onTestFinished ?? onCurrentTestFinished)(action, timeout)
