/** The signal of a poll without a deadline: it ends by itself, or at the test timeout. */
export const never = (): AbortSignal => new AbortController().signal
