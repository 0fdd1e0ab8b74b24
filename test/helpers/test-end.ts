import { AsyncLocalStorage } from 'node:async_hooks'
import { aroundEach, onTestFinished as onCurrentTestFinished, type TestContext } from 'vitest'

const running = new AsyncLocalStorage<TestContext>()

/**
 * To be called where tests run concurrently, so that `onTestFinished` below is that of the test that calls it. The one that vitest exports is
 * that of the test that started last. A concurrent test that uses `expect.poll()` takes `expect` from its context.
 */
export const separateTestEnds = (): void => aroundEach((run, context) => running.run(context, run))

/** As that of vitest, and also works in concurrent tests. */
export const onTestFinished: TestContext['onTestFinished'] = (action, timeout) =>
  (running.getStore()?.onTestFinished ?? onCurrentTestFinished)(action, timeout)
