import { useEffect, useRef, useState } from 'preact/hooks'
import { Choice } from '../../shared/choice.tsx'
import { failureOf } from '../../shared/error-message.ts'
import { labelOf } from '../../shared/folder.ts'
import type { LinkKind } from '../../shared/model.ts'
import { ProblemNotice } from '../../shared/problem-notice.tsx'
import { messages } from '../../messages.ts'
import type { Permissions } from '../permissions.ts'
import type { Page } from '../user-page.ts'
import { emptyDraft, type LinkDraft, termsIn } from './link-draft.ts'
import { LinkEnd, LinkFields } from './link-fields.tsx'
import { refusedLimit } from './link-refusal.ts'
import { type LinkPath, type LinkTarget, targetOf } from './link-target.ts'
import { type MadeLink, MadeLinks } from './made-links.tsx'
import { words } from './words.ts'

const NEEDS = { download: 'read', drop: 'create' } as const

/** The kinds of links that the token may make. */
export function permittedKinds({ may }: Permissions): readonly LinkKind[] {
  return (['download', 'drop'] as const).filter((kind) => may(NEEDS[kind]))
}

/** Offered validity in days; 0 means for ever. */
export const TERMS = [1, 7, 30, 0] as const

/** The terms of a new link: it ends after a week, if the token lets it live that long. */
export function useNewDraft({ terms: permitted }: Permissions) {
  const terms = permitted(TERMS)
  const [draft, setDraft] = useState(() => emptyDraft(terms.includes(7) ? 7 : 0))
  return { terms, draft, setDraft }
}

export interface NewLink {
  readonly kind: LinkKind
  readonly target: LinkTarget
  readonly draft: LinkDraft
}

/** Creates a link, and resolves to its address. Rejects with a `Refusal`, or as the service refuses it. */
export async function createLink(page: Page, { kind, target, draft }: NewLink): Promise<string> {
  const terms = termsIn(draft, kind)
  const { secret } = await page.client.links.create(
    'name' in target ? { kind: 'download', ...target, ...terms } : { kind, ...target, ...terms },
  )
  // Not `url`: behind a proxy, the page knows better how it was reached.
  return page.connection.addressOf(`links/${secret}`)
}

export interface MakeLinksProps {
  readonly page: Page
  /** Each gets a link. */
  readonly paths: readonly LinkPath[]
  readonly hint: string
  /** Whether the link can also be one that takes files. */
  readonly offersDrops?: boolean
  /** Called when there is a new link. */
  readonly onMade?: () => void
}

/** Makes a link for each path, and shows their addresses in its place. */
export function MakeLinks({ page, paths, hint, offersDrops, onMade }: MakeLinksProps) {
  const kinds = permittedKinds(page.permissions).filter(
    (kind) => offersDrops === true || kind === 'download',
  )
  const { terms, draft, setDraft } = useNewDraft(page.permissions)
  const [kind, setKind] = useState<LinkKind>(kinds[0] ?? 'download')
  const [made, setMade] = useState<readonly MadeLink[]>([])
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const region = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // The button that was pressed is gone.
    if (made.length > 0) region.current?.querySelector<HTMLElement>('.button-main')?.focus()
  }, [made])

  async function make(): Promise<void> {
    setBusy(true)
    setProblem(undefined)
    const links: MadeLink[] = []
    try {
      for (const path of paths) {
        links.push({
          name: labelOf(path),
          address: await createLink(page, { kind, target: targetOf(path), draft }),
        })
      }
    } catch (error) {
      const partly = links.length > 0 ? `${words.partly(links.length, paths.length)} ` : ''
      setProblem(partly + (refusedLimit(error) ?? failureOf(error)))
    }
    setBusy(false)
    setMade(links)
    if (links.length > 0) onMade?.()
  }

  if (kinds.length === 0) return null
  if (made.length > 0)
    return (
      <div ref={region} class="form">
        <ProblemNotice text={problem} />
        <MadeLinks made={made} />
        {paths.length === 1 && (
          <button type="button" class="button" onClick={() => setMade([])}>
            {words.another}
          </button>
        )}
      </div>
    )
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault()
        if (!isBusy) void make()
      }}
    >
      {kinds.length > 1 ? (
        <KindField kinds={kinds} kind={kind} onChange={setKind} />
      ) : (
        <p>{hint}</p>
      )}
      <LinkEnd draft={draft} terms={terms} onChange={setDraft} />
      <details>
        <summary>{words.options}</summary>
        <div class="form">
          <LinkFields kind={kind} draft={draft} onChange={setDraft} />
        </div>
      </details>
      <ProblemNotice text={problem} />
      {/* A disabled button would lose the focus. */}
      <button type="submit" class="button button-main" aria-disabled={isBusy}>
        {isBusy ? messages.files.loading : words.create(paths.length)}
      </button>
    </form>
  )
}

export interface KindFieldProps {
  readonly kinds: readonly LinkKind[]
  readonly kind: LinkKind
  readonly onChange: (kind: LinkKind) => void
}

export function KindField({ kinds, kind, onChange }: KindFieldProps) {
  return (
    <fieldset class="radios">
      <legend>{words.kind}</legend>
      {kinds.map((each) => {
        const [title = '', hint = ''] = words.kinds[each]
        return (
          <Choice
            key={each}
            group="kind"
            title={title}
            hint={hint}
            isChosen={kind === each}
            onChange={() => onChange(each)}
          />
        )
      })}
    </fieldset>
  )
}
