import { segmentsOf } from '../target-reader.ts'
import { type ReadRequest, valuesOf } from '../request-reader.ts'

/** A request that changes a resumable upload, by the strict reading of its head. */
export type ResumableRequest =
  | {
      readonly kind: 'create'
      /** Of the file. */
      readonly name: string
      /** Whether the request ends the file, whose content its body then is; one that is not whole may end it. */
      readonly endsFile: boolean
    }
  | { readonly kind: 'append'; readonly id: string; readonly offset: number }
  | { readonly kind: 'cancel'; readonly id: string }

/** `undefined` for all other requests, and where the head can be read in two ways. */
export function readResumable(request: ReadRequest): ResumableRequest | undefined {
  const place = uploadPlace(request)
  if (place === undefined || only(request, 'tus-resumable') !== '1.0.0') return undefined
  if (place.id === undefined) return request.method === 'POST' ? creation(request) : undefined
  const { id } = place
  const override = only(request, 'x-http-method-override')?.toUpperCase()
  const method = request.method === 'POST' ? override : request.method
  if (method === 'DELETE') return { kind: 'cancel', id }
  if (method !== 'PATCH' || !hasType(request, 'application/offset+octet-stream')) return undefined
  const offset = bytesIn(only(request, 'upload-offset'))
  return offset === undefined ? undefined : { kind: 'append', id, offset }
}

function creation(request: ReadRequest): ResumableRequest | undefined {
  const { body } = request
  // Several headers are one list (RFC 9110 section 5.3).
  const name = metadataName(valuesOf(request, 'upload-metadata').join(','))
  if (name === undefined) return undefined
  const length = bytesIn(only(request, 'upload-length'))
  if (body.length > 0 && !hasType(request, 'application/offset+octet-stream')) return undefined
  // The bytes that have come count, whatever comes behind them.
  return { kind: 'create', name, endsFile: length === body.length }
}

/** Of the first pair with the key `filename`, else `name`. */
function metadataName(header: string): string | undefined {
  const pairs = header.split(',').map((pair) => pair.trim().split(/ +/))
  const values = new Map(pairs.map(([key = '', value = '']) => [key, value]))
  const value = values.get('filename') ?? values.get('name')
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString()
}

/** The collection, or one upload in it. */
function uploadPlace({ target }: ReadRequest): { readonly id: string | undefined } | undefined {
  const [start, users, me, uploads, id, ...more] = segmentsOf(target)
  if (start !== '' || users !== 'users' || me !== 'me' || uploads !== 'uploads') return undefined
  return more.length > 0 ? undefined : { id: id === '' ? undefined : id }
}

/** `undefined` unless the request has exactly one such header. */
function only(request: ReadRequest, name: string): string | undefined {
  const [value, ...more] = valuesOf(request, name)
  return more.length > 0 ? undefined : value
}

function hasType(request: ReadRequest, type: string): boolean {
  const [value = ''] = valuesOf(request, 'content-type')
  return value.split(';')[0]?.trim().toLowerCase() === type
}

function bytesIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,16}$/.test(text) ? Number(text) : undefined
}
