/**
 * What the file of a form is, by a reading of RFC 7578 that takes nothing that could be read in two ways; `undefined`
 * where there is no such file, or more than one. Shares no code with the service.
 */
export function readFormFile(contentType: string, body: Buffer): Buffer | undefined {
  const boundary = boundaryOf(contentType)
  if (boundary === undefined) return undefined
  // A delimiter begins with a line break, and the first line has one in front of it by this.
  const pieces = `\r\n${body.toString('latin1')}`.split(`\r\n--${boundary}`)
  const parts = pieces.slice(1, -1)
  const last = pieces.at(-1) ?? ''
  if (pieces.length < 3 || !(last === '--' || last.startsWith('--\r\n'))) return undefined
  const read = parts.map(readPart)
  if (read.includes(undefined)) return undefined
  const files = read.filter((part) => part?.hasFileName === true || part?.name === 'file')
  const [file] = files
  if (files.length !== 1 || file?.name !== 'file' || !file.hasFileName) return undefined
  return Buffer.from(file.content, 'latin1')
}

interface Part {
  readonly name: string
  readonly hasFileName: boolean
  readonly content: string
}

function boundaryOf(contentType: string): string | undefined {
  const parameters = parametersOf(contentType, 'multipart/form-data')
  const [, boundary = ''] = parameters?.find(([name]) => name === 'boundary') ?? []
  return boundary.length <= 70 && /^[\w'()+,\-./:=? ]*[\w'()+,\-./:=?]$/.test(boundary)
    ? boundary
    : undefined
}

function readPart(text: string): Part | undefined {
  if (!text.startsWith('\r\n')) return undefined
  const end = text.indexOf('\r\n\r\n')
  if (end < 2) return undefined
  const lines = text.slice(2, end).split('\r\n')
  if (!lines.every((line) => /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[^\r\n\0]*$/.test(line)))
    return undefined
  const named = (name: string): string[] =>
    lines.filter((line) => line.toLowerCase().startsWith(`${name}:`))
  const encodings = named('content-transfer-encoding').map((line) => line.slice(26).trim())
  if (encodings.some((encoding) => !/^(7bit|8bit|binary)$/i.test(encoding))) return undefined
  const [disposition = '', ...others] = named('content-disposition')
  const parameters = parametersOf(disposition.slice('content-disposition:'.length), 'form-data')
  if (parameters === undefined || others.length > 0) return undefined
  const names = parameters.map(([name]) => name)
  const [, name] = parameters.find(([name]) => name === 'name') ?? []
  if (name === undefined || new Set(names).size < names.length) return undefined
  const hasFileName = names.includes('filename') || names.includes('filename*')
  return { name, hasFileName, content: text.slice(end + 4) }
}

/** The parameters behind a value, cut at the semicolons that stand outside quotes. */
function parametersOf(text: string, value: string): (readonly [string, string])[] | undefined {
  const [first = '', ...rest] = text.match(/(?:"(?:\\[^]|[^"\\])*"|[^;"])+/g) ?? []
  if (first.trim().toLowerCase() !== value || (text.match(/(?<!\\)"/g) ?? []).length % 2 > 0)
    return undefined
  const parameters: (readonly [string, string])[] = []
  for (const piece of rest.map((piece) => piece.trim()).filter((piece) => piece !== '')) {
    const equals = piece.indexOf('=')
    if (equals < 1 || /[\s"]/.test(piece.slice(0, equals))) return undefined
    const quoted = /^"([^]*)"$/.exec(piece.slice(equals + 1))?.[1]
    const bare = quoted ?? piece.slice(equals + 1)
    if (quoted === undefined && /["\s]/.test(bare)) return undefined
    parameters.push([piece.slice(0, equals).toLowerCase(), bare.replaceAll(/\\(["\\])/g, '$1')])
  }
  return parameters
}
