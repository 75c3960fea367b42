import { useEffect, useState } from 'preact/hooks'

export interface QrCodeProps {
  readonly text: string
  /** What it is a code of. */
  readonly label: string
}

interface Drawing {
  readonly size: number
  readonly path: string
}

/** Nothing while the code that draws it loads, and if it cannot be loaded: the text is beside it. */
export function QrCode({ text, label }: QrCodeProps) {
  const [drawing, setDrawing] = useState<Drawing>()
  useEffect(() => {
    draw(text).then(setDrawing, () => undefined)
  }, [text])
  if (drawing === undefined) return undefined
  const { size, path } = drawing
  return (
    <svg class="code" role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`}>
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
