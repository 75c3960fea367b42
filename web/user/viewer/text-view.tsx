import { useEffect, useState } from 'preact/hooks'
import { formatBytes } from '../../shared/format.ts'
import type { FileEntry } from '../../shared/model.ts'
import { messages } from '../../messages.ts'
import type { FileContent } from '../file-content.ts'
import { createRangeReader } from '../../shared/range-reader.ts'
import { decodeText } from './decode-text.ts'
import { words } from './words.ts'

export interface TextViewProps {
  readonly file: FileEntry
  readonly content: FileContent
  /** Called if the content is no text, or cannot be read. */
  readonly onFail: () => void
}

const MAX_TEXT_BYTES = 256 * 2 ** 10

/** The beginning of a text, as text. */
export function TextView({ file, content, onFail }: TextViewProps) {
  const [text, setText] = useState<string>()
  useEffect(() => {
    const leaving = new AbortController()
    async function load(): Promise<void> {
      const { signal } = leaving
      const [url, version] = [content.downloadUrlOf(file), `"${file.etag}"`]
      const read = createRangeReader({ url, size: file.size, version, signal })
      const bytes = await read(0, MAX_TEXT_BYTES)
      const decoded = decodeText(bytes, bytes.length >= file.size)
      if (decoded === undefined) onFail()
      else setText(decoded)
    }
    load().catch(() => {
      if (!leaving.signal.aborted) onFail()
    })
    return () => leaving.abort(new Error('Closed.'))
  }, [])
  return (
    <div class="viewer-stage viewer-paper">
      {text === undefined ? (
        <p role="status">{messages.files.loading}</p>
      ) : (
        <pre class="viewer-text" dir="auto" tabIndex={0} aria-label={file.name} role="region">
          {text}
        </pre>
      )}
      {file.size > MAX_TEXT_BYTES && (
        <p class="viewer-note">{words.beginning(formatBytes(MAX_TEXT_BYTES))}</p>
      )}
    </div>
  )
}
