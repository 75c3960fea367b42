import { describe, expect, it } from 'vitest'
import { sha256 } from '../crash/content.ts'
import { fileBody, filePart, multipartBody } from '../../support/http/multipart-body.ts'
import { readFormFile } from './form-reader.ts'
import { readRequests } from './request-reader.ts'
import { contentsOf } from './resumable/append-contents.ts'
import { readResumable } from './resumable/resumable-reader.ts'
import { effectOf } from './write-effects.ts'
import { readResponses } from './response-reader.ts'

const TYPE = 'multipart/form-data; boundary=XBOUNDARY'

describe('the strict reading of requests', () => {
  const read = (text: string) => {
    const { requests, rest } = readRequests(Buffer.from(text, 'latin1'))
    return {
      bodies: requests.map(({ body }) => body.toString()),
      rest,
      last: requests.at(-1)?.isWhole,
    }
  }

  it.each([
    ['with a length', 'PUT /a HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi', ['hi']],
    [
      'in chunks',
      'PUT /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;x=y\r\nh\r\n1\r\ni\r\n0\r\nT: 1\r\n\r\n',
      ['hi'],
    ],
    ['one behind the other', 'GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.0\r\n\r\n', ['', '']],
  ])('finds those %s', (_what, text, bodies) => {
    expect(read(text)).toEqual({ bodies, rest: 'nothing', last: true })
  })

  it.each([
    ['two lengths', 'PUT /a HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi'],
    [
      'a length and chunks',
      'PUT /a HTTP/1.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['chunks in HTTP/1.0', 'PUT /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a space before a colon', 'GET /a HTTP/1.1\r\nHost : x\r\n\r\n'],
    ['a folded header', 'GET /a HTTP/1.1\r\nHost: x\r\n y\r\n\r\n'],
    ['a NUL', 'GET /a HTTP/1.1\r\nHost: x\0\r\n\r\n'],
  ])('finds none with %s', (_what, text) => {
    expect(read(text)).toEqual({ bodies: [], rest: 'malformed', last: undefined })
  })

  it('tells a body that is cut off from one that is malformed', () => {
    const head = 'PUT /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n'
    expect(read(`${head}5\r\nhe`)).toMatchObject({ rest: 'nothing', last: false })
    expect(read(`${head}zz\r\n`)).toMatchObject({ rest: 'malformed', last: false })
    expect(read('GET /a HTTP/1.1\r\nHo')).toMatchObject({ rest: 'partial' })
  })
})

describe('the strict reading of resumable uploads', () => {
  const read = (...lines: readonly string[]) => {
    const { requests } = readRequests(Buffer.from([...lines, '', 'four'].join('\r\n')))
    return requests[0] && readResumable(requests[0])
  }
  const four = ['Content-Length: 4', 'Content-Type: application/offset+octet-stream']
  const tus = ['Tus-Resumable: 1.0.0', ...four]

  it.each([
    ['Upload-Length: 4', true],
    ['Upload-Length: 5', false],
    ['Upload-Defer-Length: 1', false],
  ])('finds a creation with %s', (length, endsFile) => {
    const metadata = 'Upload-Metadata: name eA==,filename YQ=='
    const found = read('POST /users/me/uploads/ HTTP/1.1', ...tus, length, metadata)
    expect(found).toEqual({ kind: 'create', name: 'a', endsFile })
  })

  it('knows that a creation may end its file though what comes behind the bytes is malformed', () => {
    const head = [
      'POST /users/me/uploads HTTP/1.1',
      'Tus-Resumable: 1.0.0',
      'Upload-Length: 4',
      'Upload-Metadata: filename YQ==',
      'Content-Type: application/offset+octet-stream',
      'Transfer-Encoding: chunked',
    ]
    const bytes = [...head, '', '4', 'four', '0', 'no trailer', '', ''].join('\r\n')
    const [request] = readRequests(Buffer.from(bytes)).requests
    expect(request?.isWhole).toBe(false)
    expect([...((request && effectOf(request, () => [])) ?? [])]).toEqual([['a', [sha256('four')]]])
  })

  it.each(['PATCH', 'POST'])('finds an append (%s)', (method) => {
    const override = 'X-HTTP-Method-Override: PATCH'
    const start = `${method} /users/me/uploads/u HTTP/1.1`
    const found = read(start, ...tus, override, 'Upload-Offset: 7')
    expect(found).toEqual({ kind: 'append', id: 'u', offset: 7 })
  })

  it.each([
    ['another version', ['Tus-Resumable: 0.2.2', ...four, 'Upload-Offset: 7']],
    ['two offsets', [...tus, 'Upload-Offset: 7', 'Upload-Offset: 7']],
    ['no offset', tus],
  ])('finds none with %s', (_what, lines) => {
    expect(read('PATCH /users/me/uploads/u HTTP/1.1', ...lines)).toBeUndefined()
  })

  it('knows what an upload may hold of appends that came to any byte', () => {
    const content = Buffer.from('ab')
    const appends = [
      { offset: 2, body: Buffer.from('cdef') },
      { offset: 4, body: Buffer.from('XY') },
    ]
    const held = (end: number) =>
      Array.from(contentsOf(end, { content, appends }), (held) => held.toString())
    expect(held(2)).toEqual(['ab'])
    expect(held(3)).toEqual(['abc'])
    expect(new Set(held(6))).toEqual(new Set(['abcdef', 'abcdXY']))
    expect(held(7)).toEqual([])
  })
})

describe('what a write may do', () => {
  const head = ['PUT /users/me/repo/a HTTP/1.1', 'Content-Length: 4']
  const read = (...lines: readonly string[]) => {
    const { requests } = readRequests(Buffer.from([...head, ...lines, '', 'four'].join('\r\n')))
    return requests[0] && effectOf(requests[0], () => [])?.has('a')
  }

  it.each([
    [[], true],
    [['Upload-Complete: ?1'], true],
    [['Upload-Complete: ?0'], undefined],
    [['Upload-Complete: ?1', 'Upload-Complete: ?1'], undefined],
    [['Upload-Complete: 1', 'Tus-Resumable: 1.0.0'], undefined],
  ])('stores only what is said to be a whole file: %j', (lines, isStored) => {
    expect(read(...lines)).toBe(isStored)
  })
})

describe('the strict reading of forms', () => {
  it('finds the file beside fields', () => {
    const form = multipartBody([{ name: 'x', content: 'y' }, filePart('a\r\n--XBOUNDAR')], {
      preamble: 'p',
    })
    expect(readFormFile(TYPE, form)?.toString()).toBe('a\r\n--XBOUNDAR')
  })

  it.each([
    ['two files', TYPE, multipartBody([filePart('a'), filePart('b')])],
    ['no end', TYPE, fileBody('a').subarray(0, -4)],
    ['a boundary line in its file', TYPE, fileBody('a\r\n--XBOUNDARY\r\nb')],
    ['a boundary line behind its end', TYPE, fileBody('a', { epilogue: '\r\n--XBOUNDARY\r\n' })],
    ['a file of another name', TYPE, multipartBody([{ ...filePart('a'), name: 'b' }])],
    ['lines that end in LF', TYPE, Buffer.from(fileBody('a').toString().replaceAll('\r', ''))],
    ['another type', 'text/plain', fileBody('a')],
    ['an open quote', 'multipart/form-data; boundary="XBOUNDARY', fileBody('a')],
  ])('finds none in a form with %s', (_what, type, form) => {
    expect(readFormFile(type, form)).toBeUndefined()
  })
})

describe('the strict reading of answers', () => {
  const read = (text: string, methods = ['GET', 'GET']) =>
    readResponses(Buffer.from(text, 'latin1'), { methods, isClosed: true })

  it('finds one behind the other, with interim ones between', () => {
    const text =
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 204 No Content\r\n\r\n'
    const { responses, interim, fault } = read(text)
    expect({ statuses: responses.map(({ status }) => status), interim, fault }).toEqual({
      statuses: [200, 204],
      interim: 1,
      fault: undefined,
    })
  })

  it.each([
    ['bytes behind the length', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nhi\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['a chunk that is none', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n'],
    ['a header that is none', 'HTTP/1.1 200 OK\r\nnone\r\n\r\n'],
    ['another protocol', 'HELLO\r\n\r\n'],
  ])('says what is wrong with %s', (_what, text) => {
    expect(read(text).fault).toBeTypeOf('string')
  })

  it('tells an answer that is cut off, and a body in the answer to HEAD', () => {
    const text = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhi'
    expect(read(text).responses[0]?.isWhole).toBe(false)
    expect(read(text, ['HEAD']).fault).toBeTypeOf('string')
  })
})
