/** The signal of a poll without a deadline: it ends by itself, or the test's own time limit ends it. */
export const never = (): AbortSignal => new AbortController().signal
