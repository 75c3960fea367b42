import { useState } from 'preact/hooks'
import { CopyField } from '../../shared/copy-field.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { QrCode } from '../../shared/tokens/qr-code.tsx'
import { words } from './words.ts'

/** A link that was created just now, with what it is for. */
export interface MadeLink {
  readonly name: string
  readonly address: string
}

/** The addresses of new links, to copy: they are shown only now. */
export function MadeLinks({ made }: { readonly made: readonly MadeLink[] }) {
  const [said, setSaid] = useState('')
  const [isCoded, setCoded] = useState(false)
  const [only, ...others] = made
  if (only === undefined) return null
  if (others.length > 0)
    return (
      <CopyField
        label={words.links}
        value={made.map(({ name, address }) => `${name}: ${address}`).join('\n')}
        words={{ ...words, copy: words.copyAll }}
        isLong
        said={said || words.onceMany}
        onSaid={setSaid}
      />
    )
  return (
    <>
      <CopyField
        label={words.link}
        value={only.address}
        words={words}
        said={said || words.once}
        onSaid={setSaid}
      />
      {isCoded ? (
        <QrCode text={only.address} label={words.code} />
      ) : (
        <button type="button" class="button" onClick={() => setCoded(true)}>
          {words.showCode}
        </button>
      )}
    </>
  )
}

/** The address of a new link, or the new one of a link. */
export function CreatedLink({ address, onClose }: { address: string; onClose: () => void }) {
  return (
    <Dialog title={words.made(1)} onClose={onClose}>
      <MadeLinks made={[{ name: '', address }]} />
    </Dialog>
  )
}
