import './visit.css'
import { useEffect, useState } from 'preact/hooks'
import { formatBytes, formatTime } from '../shared/format.ts'
import { OutageBanner } from '../shared/outage-banner.tsx'
import { ProblemNotice } from '../shared/problem-notice.tsx'
import { ProductLinks, ProductName } from '../shared/product.tsx'
import { visibleText } from '../shared/visible-text.ts'
import { messages } from '../messages.ts'
import { isFull, takenBy } from './drop-limits.ts'
import { LinkedFiles } from './linked-files.tsx'
import { useLoaded } from './use-loaded.ts'
import type { OpenLink, Visit } from './visit.ts'
import { words } from './words.ts'

/** What somebody without an account sees of a link. */
export function LinkPage({ visit }: { readonly visit: Visit }) {
  return (
    <>
      {!visit.connection.isConnected.value && <OutageBanner />}
      <View visit={visit} />
    </>
  )
}

function View({ visit }: { readonly visit: Visit }) {
  const state = visit.state.value
  switch (state.kind) {
    case 'loading':
      return (
        <main class="opening" aria-busy="true">
          <h1 class="unseen">{messages.product}</h1>
          <p class="quiet">{messages.files.loading}</p>
        </main>
      )
    case 'ended':
      return <Notice title={words.ended} text={words.endedText} />
    case 'failed':
      return <Notice title={words.failed} text={state.text} />
    case 'locked':
      return <Password visit={visit} problem={state.problem} />
    case 'open':
      return <Open visit={visit} link={state.link} />
  }
}

function Notice({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <main class="sign-in">
      <div class="card sign-in-card">
        <ProductName />
        <h1>{title}</h1>
        <p>{text}</p>
      </div>
      <ProductLinks />
    </main>
  )
}

interface PasswordProps {
  readonly visit: Visit
  readonly problem: string | undefined
}

function Password({ visit, problem }: PasswordProps) {
  const [password, setPassword] = useState('')
  const [isBusy, setBusy] = useState(false)

  async function submit(): Promise<void> {
    setBusy(true)
    await visit.unlock(password)
    setBusy(false)
  }

  return (
    <main class="sign-in">
      <form
        class="card sign-in-card"
        onSubmit={(event) => {
          event.preventDefault()
          if (password !== '') void submit()
        }}
      >
        <ProductName />
        <h1>{words.locked}</h1>
        <ProblemNotice text={problem} />
        <label for="password">{words.password}</label>
        <input
          id="password"
          class="field"
          type="password"
          value={password}
          autocomplete="off"
          aria-invalid={problem !== undefined}
          onInput={(event) => setPassword(event.currentTarget.value)}
        />
        <button type="submit" class="button button-main" disabled={isBusy || password === ''}>
          {words.open}
        </button>
      </form>
      <ProductLinks />
    </main>
  )
}

function Open({ visit, link }: { readonly visit: Visit; readonly link: OpenLink }) {
  const { kind, label, expires_at: end } = link
  const DropBox = useLoaded(kind === 'drop', async () => (await import('./drop-box.tsx')).DropBox)
  const title = label === '' ? words.titles[kind] : visibleText(label)
  useEffect(() => {
    document.title = title
  }, [title])
  return (
    <div class="visit">
      <main class="card visit-card">
        <header class="visit-head">
          <ProductName />
          <h1>{title}</h1>
          <p class="quiet">
            {[words.hints[kind], end === null ? '' : words.until(formatTime(end)), leftOf(link)]
              .filter(Boolean)
              .join(' ')}
          </p>
        </header>
        {kind === 'drop' ? (
          DropBox !== undefined && <DropBox visit={visit} link={link} />
        ) : (
          <LinkedFiles visit={visit} link={link} />
        )}
      </main>
      <ProductLinks />
    </div>
  )
}

function leftOf(link: OpenLink): string {
  if (link.kind === 'download')
    return link.uses_left === null ? '' : words.downloadsLeft(link.uses_left)
  const { files, bytes } = takenBy(link)
  if (isFull(link)) return words.full
  return files === null && bytes === null
    ? ''
    : words.takes(files, bytes === null ? '' : formatBytes(bytes))
}
