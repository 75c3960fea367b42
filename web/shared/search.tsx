import { useEffect, useRef, useState } from 'preact/hooks'
import { Icon } from './icon.tsx'

export interface SearchProps {
  readonly label: string
  readonly maxLength: number
  /** The initial search text. */
  readonly initial?: string
  /** Debounced. */
  readonly onSearch: (text: string) => void
  readonly onEnter?: (text: string) => void
}

const TYPING_MS = 200

/** A search field for a name prefix. */
export function Search({ label, maxLength, initial = '', onSearch, onEnter }: SearchProps) {
  const [text, setText] = useState(initial)
  const searched = useRef(initial)
  useEffect(() => {
    const timer = setTimeout(() => {
      if (searched.current === text) return
      searched.current = text
      onSearch(text)
    }, TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <div class="search" role="search">
      <Icon name="search" />
      <input
        class="field"
        type="search"
        value={text}
        placeholder={label}
        aria-label={label}
        maxLength={maxLength}
        autocapitalize="none"
        spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={({ key }) => {
          if (key !== 'Enter' || onEnter === undefined) return
          searched.current = text
          onEnter(text)
        }}
      />
    </div>
  )
}
