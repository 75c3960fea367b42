import { render } from 'preact'

const root = document.getElementById('page')
if (root !== null) render(<h1>Cloud Repository</h1>, root)
