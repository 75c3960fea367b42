import './shortcuts.css'
import { Fragment } from 'preact'
import { Dialog } from '../../shared/dialog.tsx'
import { messages } from '../../messages.ts'
import { shortcutsEnglish } from './english.ts'

const words = messages.shortcuts ?? shortcutsEnglish
const { keys } = words

type Key = keyof typeof keys

/** Alternatives, each of keys that are pressed together. */
type Shortcut = readonly [text: string, ...ways: readonly string[]]

const GROUPS: readonly (readonly [title: string, shortcuts: readonly Shortcut[]])[] = [
  [
    words.groups.list,
    [
      [words.move, '← ↑ → ↓'],
      [words.ends, 'Home', 'End'],
      [words.open, 'Enter'],
      [words.parent, 'Backspace'],
      [words.actions, 'Menu', 'Shift F10'],
      [words.rename, 'F2'],
      [words.remove, 'Delete'],
    ],
  ],
  [
    words.groups.selection,
    [
      [words.select, 'Space'],
      [words.extend, 'Shift ↑', 'Shift ↓'],
      [words.all, 'Control A'],
      [words.end, 'Escape'],
    ],
  ],
  [
    words.groups.everywhere,
    [
      [words.search, '/'],
      [words.undo, 'Control Z'],
      [words.help, '?'],
    ],
  ],
]

/** All keys of the page. */
export function ShortcutHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title={words.title} onClose={onClose}>
      {GROUPS.map(([title, shortcuts]) => (
        <section key={title} class="shortcuts">
          <h3>{title}</h3>
          <dl>
            {shortcuts.map(([text, ...ways]) => (
              <div key={text}>
                <dt>{text}</dt>
                <dd>
                  {ways.map((way, at) => (
                    <Fragment key={way}>
                      {at > 0 && <span class="quiet"> {words.or} </span>}
                      {way.split(' ').map((key) => (
                        <kbd key={key}>{nameOf(key)}</kbd>
                      ))}
                    </Fragment>
                  ))}
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  )
}

/** Keyboards of Apple computers have another key for what `Control` does on others. */
function nameOf(key: string): string {
  if (key === 'Control' && /^Mac|^iP/.test(navigator.platform)) return '⌘'
  return key in keys ? keys[key as Key] : key
}
