import type { HtmlTagDescriptor, Plugin, Rolldown } from 'vite'

/**
 * Has browsers load the page while its entry chooses the language. The entry imports the page dynamically, and only
 * what an entry imports statically is in the document otherwise.
 */
export function preloaded(): Plugin {
  return {
    name: 'preloaded',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(document, { chunk, bundle = {}, path }) {
        const base = path.split('/').length > 2 ? '../' : './'
        const start = chunk?.dynamicImports.find((name) => isStart(bundle[name]))
        if (start === undefined) return []
        const chunks = [...importsOf(start, bundle)]
        const sheets = chunks.flatMap((name) => sheetsOf(bundle[name]))
        return [
          ...chunks.map((name) => tagOf('modulepreload', base + name)),
          ...sheets.map((name) => tagOf('stylesheet', base + name)),
        ].filter(({ attrs }) => !document.includes(`"${String(attrs?.['href'])}"`))
      },
    },
  }
}

type Output = Rolldown.OutputChunk | Rolldown.OutputAsset | undefined

function isStart(output: Output): boolean {
  return output?.type === 'chunk' && output.facadeModuleId?.endsWith('/start.tsx') === true
}

function importsOf(
  name: string,
  bundle: Readonly<Record<string, Output>>,
  found = new Set<string>(),
): ReadonlySet<string> {
  const output = bundle[name]
  if (output?.type !== 'chunk' || found.has(name)) return found
  found.add(name)
  for (const imported of output.imports) importsOf(imported, bundle, found)
  return found
}

function sheetsOf(output: Output): readonly string[] {
  return output?.type === 'chunk' ? [...(output.viteMetadata?.importedCss ?? [])] : []
}

function tagOf(rel: 'modulepreload' | 'stylesheet', href: string): HtmlTagDescriptor {
  return { tag: 'link', attrs: { rel, crossorigin: true, href }, injectTo: 'head' }
}
