import { useState } from 'preact/hooks'
import { texts } from '../texts.ts'
import type { Session } from './session.ts'

export interface SignInProps {
  readonly session: Session
  readonly reason: string | undefined
  /** Uploads that wait for the user to come back. */
  readonly keptUploads: number
}

export function SignIn({ session, reason, keptUploads }: SignInProps) {
  const [token, setToken] = useState('')
  const [isShown, setShown] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [isMissing, setMissing] = useState(false)
  const words = texts.signIn
  const problem = isMissing ? words.needed : reason

  async function submit(): Promise<void> {
    setMissing(token.trim() === '')
    if (token.trim() === '') return
    setBusy(true)
    await session.signIn(token.trim())
    setBusy(false)
  }

  return (
    <main class="sign-in">
      <form
        class="card sign-in-card"
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <span class="mark" aria-hidden="true" />
        <h1>{words.title}</h1>
        {problem !== undefined && (
          <p class="notice notice-bad" role="alert">
            {problem}
          </p>
        )}
        {keptUploads > 0 && <p class="notice">{words.uploadsKept(keptUploads)}</p>}
        <label for="token">{words.label}</label>
        <input
          id="token"
          class="field"
          type={isShown ? 'text' : 'password'}
          value={token}
          placeholder="crt_…"
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          aria-describedby="token-explanation"
          aria-invalid={problem !== undefined}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        <label class="check">
          <input type="checkbox" checked={isShown} onChange={() => setShown(!isShown)} />
          {words.show}
        </label>
        <button type="submit" class="button button-main" disabled={isBusy}>
          {words.action}
        </button>
        <p id="token-explanation" class="quiet">
          {words.explanation}
        </p>
      </form>
    </main>
  )
}
