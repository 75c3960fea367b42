/** What a page of another site can make a browser send with the user's cookie and without asking first. */
export interface Attack {
  /** A script for the page, against the address of a file that is there. */
  readonly script: (target: string) => string
  /** How many requests of it the service meets at least. */
  readonly requests: number
  /** What each of them is answered from a page that may not; reading is no matter of where the page is from. */
  readonly refusal: number | undefined
  /** Whether it does write where the page may. */
  readonly works: boolean
}

const REFUSED = { requests: 1, refusal: 403, works: false }

/** Sends a form with a file chosen by the page, as `enctype` has it, into the window or frame `target`. */
function form(enctype: string, target: '_self' | '_blank' | 'frame'): Attack['script'] {
  return (url) => `(() => {
    document.body.innerHTML = '<iframe name="frame"></iframe><form method="post"><input name="file" type="file"></form>'
    const form = document.forms[0]
    form.action = ${JSON.stringify(url)}
    form.enctype = '${enctype}'
    form.target = '${target}'
    const files = new DataTransfer()
    files.items.add(new File(['forged'], 'forged'))
    form.elements[0].files = files.files
    form.submit()
  })()`
}

/** Sends a body without CORS, whose answer the page may not read. */
function blindly(
  body: string,
  call = 'fetch(url, { method: "POST", mode: "no-cors", credentials: "include", body }).catch(() => {})',
) {
  return (url: string): string => `(async () => {
    const url = ${JSON.stringify(url)}
    const body = ${body}
    await ${call}
  })()`
}

const FORGED_FORM = `(() => {
  const form = new FormData()
  form.set('file', new File(['forged'], 'forged'))
  return form
})()`

const FORGED_BLOB = `new Blob(
  ['--b\\r\\nContent-Disposition: form-data; name="file"; filename="a"\\r\\n\\r\\nforged\\r\\n--b--\\r\\n'],
  { type: 'multipart/form-data; boundary=b' },
)`

/** Writes by a method of the query or the headers, if the service knew one: it must see a plain GET or POST. */
const OVERRIDES = ['?_method=DELETE', '?method=PUT', '?visibility=public']

export const ATTACKS: Readonly<Record<string, Attack>> = {
  'a form with a file': { ...REFUSED, works: true, script: form('multipart/form-data', '_self') },
  'a form with a file in a frame': {
    ...REFUSED,
    works: true,
    script: form('multipart/form-data', 'frame'),
  },
  'a form with a file in a new window': {
    ...REFUSED,
    works: true,
    script: form('multipart/form-data', '_blank'),
  },
  'a simple form': { ...REFUSED, script: form('application/x-www-form-urlencoded', '_self') },
  'a form of text': { ...REFUSED, script: form('text/plain', '_self') },
  'fetch of a form without CORS': { ...REFUSED, works: true, script: blindly(FORGED_FORM) },
  'fetch of forged bytes without CORS': { ...REFUSED, works: true, script: blindly(FORGED_BLOB) },
  'a beacon': {
    ...REFUSED,
    works: true,
    script: blindly(FORGED_FORM, 'navigator.sendBeacon(url, body)'),
  },
  'a form with another method in its query': {
    ...REFUSED,
    requests: OVERRIDES.length,
    script: (url) =>
      `(async () => {
        const ways = ${JSON.stringify(OVERRIDES)}
        for (const way of ways) {
          const request = { method: 'POST', mode: 'no-cors', credentials: 'include', body: 'x' }
          await fetch(${JSON.stringify(url)} + way, request).catch(() => {})
        }
      })()`,
  },
  'pictures, scripts, frames and the like': {
    requests: 4,
    refusal: undefined,
    works: false,
    script: (url) => `(() => {
      const url = ${JSON.stringify(url)} + '?visibility=public&_method=DELETE&'
      document.body.innerHTML = [
        '<img src="' + url + 'img">',
        '<iframe src="' + url + 'iframe"></iframe>',
        '<embed src="' + url + 'embed">',
        '<object data="' + url + 'object"></object>',
        '<video src="' + url + 'video" autoplay></video>',
        '<link rel="stylesheet" href="' + url + 'link">',
      ].join('')
      const script = document.createElement('script')
      script.src = url + 'script'
      document.body.append(script)
    })()`,
  },
  'a link': {
    requests: 1,
    refusal: undefined,
    works: false,
    script: (url) =>
      `location.assign(${JSON.stringify(url)} + '?visibility=public&_method=DELETE')`,
  },
}
