// Preloaded by `--import`: says at the end, on stderr, which packages the process has loaded.
import { registerHooks } from 'node:module'

const packages = new Set()

registerHooks({
  load(url, context, next) {
    const [name] = url.split('/node_modules/').slice(-1)
    const parts = name === url ? [] : name.split('/')
    if (parts.length > 0) packages.add(parts.slice(0, parts[0].startsWith('@') ? 2 : 1).join('/'))
    return next(url, context)
  },
})

process.on('exit', () => console.error(JSON.stringify([...packages])))
