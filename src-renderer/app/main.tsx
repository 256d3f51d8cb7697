import './theme/theme.css'
import { createRoot } from 'react-dom/client'
import { startReveal } from '../bridge/reveal'
import { startSync } from '../bridge/sync'
import { App } from './App'
import { applyCachedTheme } from './theme/apply'

applyCachedTheme()
// The first snapshot is asked for before anything is drawn; the frame and the composer do not wait for its answer.
startSync()
startReveal()
const root = document.getElementById('root')
if (root !== null) createRoot(root).render(<App />)
