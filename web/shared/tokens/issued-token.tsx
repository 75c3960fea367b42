import { useEffect, useState } from 'preact/hooks'
import { CopyField } from '../copy-field.tsx'
import { Dialog } from '../dialog.tsx'
import { messages } from '../../messages.ts'

const words = messages.tokens

/** Shows the token, once: as text, and as a QR code for a device with a camera. */
export function IssuedToken({ secret, onClose }: { secret: string; onClose: () => void }) {
  const [said, setSaid] = useState('')
  return (
    <Dialog title={words.issued} onClose={onClose}>
      <p>{words.once}</p>
      <CopyField
        label={messages.signIn.label}
        value={secret}
        words={words}
        said={said}
        onSaid={setSaid}
      />
      <Code text={secret} />
    </Dialog>
  )
}

interface Drawing {
  readonly size: number
  readonly path: string
}

/** Nothing while the code that draws it loads, and if it cannot be loaded: the text is there. */
function Code({ text }: { readonly text: string }) {
  const [drawing, setDrawing] = useState<Drawing>()
  useEffect(() => {
    draw(text).then(setDrawing, () => undefined)
  }, [text])
  if (drawing === undefined) return undefined
  const { size, path } = drawing
  return (
    <svg class="code" role="img" aria-label={words.code} viewBox={`0 0 ${size} ${size}`}>
      <path d={path} fill="currentColor" />
    </svg>
  )
}

async function draw(text: string): Promise<Drawing> {
  const [{ generate }, { toSvgPath }] = await Promise.all([
    import('lean-qr'),
    import('lean-qr/extras/svg'),
  ])
  const code = generate(text)
  return { size: code.size, path: toSvgPath(code) }
}
