import { useState } from 'preact/hooks'
import { messages } from '../messages.ts'
import { ProblemNotice } from './problem-notice.tsx'
import { ProductLinks, ProductName } from './product.tsx'
import type { Session } from './session.ts'

type Words = typeof messages.signIn

export interface SignInProps {
  readonly session: Session
  /** Names the token and says where it comes from. */
  readonly words: Pick<Words, 'title' | 'explanation' | 'label' | 'needed'>
  readonly reason: string | undefined
  /** If set, offers to sign out, which removes leftover cookies. */
  readonly onSignOut?: (() => void) | undefined
  /** A note about uploads that continue after signing in. */
  readonly kept?: string | undefined
}

export function SignIn({ session, words, reason, onSignOut, kept }: SignInProps) {
  const [token, setToken] = useState('')
  const [isShown, setShown] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [isMissing, setMissing] = useState(false)
  const { show, action } = messages.signIn
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
        <ProductName />
        <h1>{words.title}</h1>
        <ProblemNotice text={problem} />
        {kept !== undefined && <p class="notice">{kept}</p>}
        <label for="token">{words.label}</label>
        <input
          id="token"
          class="field"
          type={isShown ? 'text' : 'password'}
          value={token}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          aria-describedby="token-explanation"
          aria-invalid={problem !== undefined}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        <label class="check">
          <input type="checkbox" checked={isShown} onChange={() => setShown(!isShown)} />
          {show}
        </label>
        <button type="submit" class="button button-main" disabled={isBusy}>
          {action}
        </button>
        {onSignOut !== undefined && (
          <button type="button" class="button" disabled={isBusy} onClick={onSignOut}>
            {messages.signIn.signOut}
          </button>
        )}
        <p id="token-explanation" class="quiet">
          {words.explanation}
        </p>
      </form>
      <ProductLinks />
    </main>
  )
}
