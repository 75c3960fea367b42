import './access.css'
import { useEffect, useRef, useState } from 'preact/hooks'
import { byName } from '../../shared/devices/device.ts'
import { failureOf } from '../../shared/error-message.ts'
import { Icon } from '../../shared/icon.tsx'
import type { AccessToken, LinkEntry } from '../../shared/model.ts'
import { ProblemNotice } from '../../shared/problem-notice.tsx'
import { TokenList } from '../../shared/tokens/token-list.tsx'
import { words } from '../../shared/tokens/words.ts'
import { messages } from '../../messages.ts'
import { LinkList } from '../links/link-list.tsx'
import type { Page } from '../user-page.ts'

/** The links and tokens that the user has made, to make more and to revoke them. */
export function AccessView({ page }: { readonly page: Page }) {
  const { client, reader, access, capacity, connection, permissions } = page
  const [tokens, setTokens] = useState<readonly AccessToken[]>()
  const [links, setLinks] = useState<readonly LinkEntry[]>()
  const [problem, setProblem] = useState<string>()
  const heading = useRef<HTMLHeadingElement>(null)

  async function read(): Promise<void> {
    try {
      const all = await Array.fromAsync(reader.tokens.list({ limit: 1000 }))
      setTokens(all.filter(isValid))
      setLinks(await Array.fromAsync(reader.links.list({ limit: 1000 })))
      setProblem(undefined)
    } catch (error) {
      setProblem(failureOf(error))
    }
  }

  useEffect(() => {
    heading.current?.focus()
    void read()
  }, [])

  return (
    <main class="files card">
      <div class="toolbar">
        <button type="button" class="button button-plain" onClick={() => access.close()}>
          <Icon name="folder" />
          {messages.history.back}
        </button>
        <h2 class="toolbar-title" ref={heading} tabIndex={-1}>
          {messages.access}
        </h2>
      </div>
      <div class="list-rows access">
        <ProblemNotice text={problem} />
        {links !== undefined && <LinkList page={page} links={links} onChange={() => void read()} />}
        {tokens !== undefined && (
          <TokenList
            tokens={client.tokens}
            entries={tokens}
            devices={byName(capacity.figures.value?.devices)}
            address={connection.addressOf('').replace(/\/$/, '')}
            title={words.valid}
            hint={words.hint}
            add={words.connect}
            preset="send"
            parent={permissions.token.value}
            onChange={() => void read()}
          />
        )}
      </div>
    </main>
  )
}

function isValid({ revoked_at: revoked, expires_at: end }: AccessToken): boolean {
  return revoked === null && (end === null || Date.parse(end) > Date.now())
}
