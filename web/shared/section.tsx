import './section.css'
import { type ComponentChildren, Fragment } from 'preact'
import { useId, useRef } from 'preact/hooks'
import { Icon, type IconName } from './icon.tsx'
import { useKeptFocus } from './kept-focus.ts'
import { ShownName } from './shown-name.tsx'

export interface SectionFrameProps {
  readonly title: string
  /** What the list is for. */
  readonly hint?: string | undefined
  readonly empty: string
  /** The button that adds an entry; omitted if operators add none. */
  readonly add?: string | undefined
  readonly onAdd?: () => void
  /** A field that finds rows. */
  readonly search?: ComponentChildren
  /** Rows of the list; `empty` is shown if there are none. */
  readonly children: readonly ComponentChildren[]
}

/** A list, usually with a button that adds an entry. */
export function SectionFrame(props: SectionFrameProps) {
  const { title, hint, empty, add, onAdd, search, children } = props
  const id = useId()
  const section = useRef<HTMLElement>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  useKeptFocus(section, () => heading.current)
  return (
    <section ref={section} class="section" aria-labelledby={id}>
      <header class="section-head">
        <h3 ref={heading} id={id} tabIndex={-1}>
          {title}
        </h3>
        {add !== undefined && (
          <button type="button" class="button button-small" onClick={onAdd}>
            {add}
          </button>
        )}
      </header>
      {hint !== undefined && <p class="quiet">{hint}</p>}
      {search}
      {children.length === 0 ? <p class="quiet">{empty}</p> : <ul class="grants">{children}</ul>}
    </section>
  )
}

interface EntryAction {
  readonly label: string
  readonly text: string
  readonly run: () => void
}

export interface EntryProps {
  readonly icon: IconName
  readonly name: string
  readonly details: readonly string[]
  /** Below the name. */
  readonly bar?: ComponentChildren
  readonly figure?: string
  /** What else can be done with it. */
  readonly action?: EntryAction
  /** Removes the entry; omitted if it is removed already. */
  readonly remove?: EntryAction
}

export function Entry({ icon, name, details, bar, figure, action, remove }: EntryProps) {
  return (
    <li class="grant">
      <Icon name={icon} />
      <div class="grant-words">
        <strong>
          <ShownName name={name} />
        </strong>
        {bar}
        <span class="quiet">
          {details.filter(Boolean).map((detail, at) => (
            <Fragment key={at}>
              {at > 0 && ', '}
              <ShownName name={detail} />
            </Fragment>
          ))}
        </span>
      </div>
      {figure !== undefined && <span class="grant-bytes">{figure}</span>}
      <div class="grant-buttons">
        {action !== undefined && <EntryButton {...action} />}
        {remove !== undefined && <EntryButton {...remove} />}
      </div>
    </li>
  )
}

function EntryButton({ label, text, run }: EntryAction) {
  return (
    <button type="button" class="button button-small" aria-label={label} onClick={run}>
      {text}
    </button>
  )
}
