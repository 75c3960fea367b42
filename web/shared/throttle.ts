const DELAY_MS = 300

/** Runs the work shortly after a call. Calls until then share the run. */
export function throttle(work: () => void, delayMs = DELAY_MS): () => void {
  let isDue = false
  return () => {
    if (isDue) return
    isDue = true
    setTimeout(() => {
      isDue = false
      work()
    }, delayMs)
  }
}
