import { useState } from 'preact/hooks'
import { messages } from '../messages.ts'
import { ProductLinks, ProductName } from '../shared/product.tsx'
import type { Session } from '../shared/session.ts'

export interface LinkQuestionProps {
  readonly session: Session
  /** The user who is signed in now. */
  readonly user: string | undefined
}

/** Asks for confirmation of a sign-in link, which an attacker could have made to receive the user's files. */
export function LinkQuestion({ session, user }: LinkQuestionProps) {
  const [isBusy, setBusy] = useState(false)
  const words = messages.signIn.link
  return (
    <main class="sign-in">
      <div class="card sign-in-card">
        <ProductName />
        <h1>{words.title}</h1>
        <p>{words.warning}</p>
        {user !== undefined && <p class="notice">{words.replaces(user)}</p>}
        <button
          type="button"
          class="button button-main"
          disabled={isBusy}
          onClick={() => {
            setBusy(true)
            void session.followLink()
          }}
        >
          {words.action}
        </button>
        <button
          type="button"
          class="button"
          disabled={isBusy}
          onClick={() => session.dismissLink()}
        >
          {user === undefined ? messages.cancel : words.stay(user)}
        </button>
      </div>
      <ProductLinks />
    </main>
  )
}
