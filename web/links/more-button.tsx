import { useEffect, useRef } from 'preact/hooks'
import { messages } from '../messages.ts'

/** Shows more when it comes into view. */
export function MoreButton({ onMore }: { readonly onMore: () => void }) {
  const button = useRef<HTMLButtonElement>(null)
  const latest = useRef(onMore)
  latest.current = onMore
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting === true) latest.current()
    })
    if (button.current !== null) observer.observe(button.current)
    return () => observer.disconnect()
  })
  return (
    <button ref={button} type="button" class="button" onClick={onMore}>
      {messages.showMore}
    </button>
  )
}
