/**
 * Waits until the condition is true; the test timeout limits the wait. The pause between two checks is a few milliseconds, or longer if
 * a check takes long, as a request does: it must not take the CPU from what it waits for.
 */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (;;) {
    const startedAt = performance.now()
    if (await condition()) return
    const pauseMs = Math.min(100, Math.max(5, 4 * (performance.now() - startedAt)))
    // wait: between two checks of the condition.
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
