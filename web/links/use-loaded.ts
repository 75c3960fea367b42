import { useEffect, useState } from 'preact/hooks'

/** A part of the page that is loaded when it is first wanted; `undefined` until then, and if it cannot be loaded. */
export function useLoaded<Part>(isWanted: boolean, load: () => Promise<Part>): Part | undefined {
  const [part, setPart] = useState<{ readonly loaded: Part }>()
  useEffect(() => {
    if (!isWanted || part !== undefined) return
    load().then(
      (loaded) => setPart({ loaded }),
      // As after an update of the service.
      (error: unknown) => console.error(error),
    )
  }, [isWanted])
  return isWanted ? part?.loaded : undefined
}
