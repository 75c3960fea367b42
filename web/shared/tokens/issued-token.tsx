import { useState } from 'preact/hooks'
import type { IssuedAccessToken } from '../../../packages/js/src/client.ts'
import { CopyField } from '../copy-field.tsx'
import { Dialog } from '../dialog.tsx'
import { messages } from '../../messages.ts'
import { permits } from '../token-scope.ts'
import { powerShellCommand, shellCommand } from './first-command.ts'
import { QrCode } from './qr-code.tsx'
import { words } from './words.ts'

export interface IssuedTokenProps {
  readonly issued: IssuedAccessToken
  /** The base URL of the service for devices, without a slash at its end; omitted where it is not known. */
  readonly address?: string | undefined
  readonly onClose: () => void
}

/** Shows the token, once, and all that a device needs besides it: as text, and as a QR code. */
export function IssuedToken({ issued, address, onClose }: IssuedTokenProps) {
  const [said, setSaid] = useState('')
  const token = issued.access_token
  const code = address === undefined ? token : JSON.stringify({ url: address, access_token: token })
  const common = { notCopied: words.notCopied }
  return (
    <Dialog title={words.issued} onClose={onClose} isWide={address !== undefined}>
      <p>{words.once}</p>
      <div class="pairing">
        <div class="form">
          {address !== undefined && (
            <CopyField
              label={words.address}
              value={address}
              words={{ ...common, copy: words.copyAddress, copied: words.addressCopied }}
              isMain={false}
              onSaid={setSaid}
            />
          )}
          <CopyField
            label={messages.signIn.label}
            value={token}
            words={{ ...common, copy: words.copy, copied: words.copied }}
            onSaid={setSaid}
          />
          {address !== undefined && <Commands issued={issued} address={address} onSaid={setSaid} />}
        </div>
        <QrCode text={code} label={address === undefined ? words.code : words.codeWithAddress} />
      </div>
      <div class="dialog-actions">
        <p class="said" role="status">
          {said}
        </p>
        <button type="button" class="button button-main" onClick={onClose}>
          {words.done}
        </button>
      </div>
    </Dialog>
  )
}

interface CommandsProps {
  readonly issued: IssuedAccessToken
  readonly address: string
  readonly onSaid: (said: string) => void
}

/** What can be tried with the token at once. */
function Commands({ issued, address, onSaid }: CommandsProps) {
  const { access_token: token, scope } = issued
  const kind = (['create', 'read'] as const).find((action) => permits(scope, action))
  if (kind === undefined) return null
  const options = { address, token, prefix: scope?.prefix ?? '', kind }
  const copying = {
    copy: words.copyCommand,
    copied: words.commandCopied,
    notCopied: words.notCopied,
  }
  const common = { words: copying, isMain: false, isLong: true, onSaid }
  return (
    <>
      <CopyField label={words.command[kind]} value={shellCommand(options)} {...common} />
      <details>
        <summary>{words.windows}</summary>
        <CopyField label={words.windows} value={powerShellCommand(options)} {...common} />
      </details>
    </>
  )
}
