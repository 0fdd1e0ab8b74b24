/** Waits until the condition holds, looking again every few milliseconds; the test's own time limit ends a vain wait. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5))
}
