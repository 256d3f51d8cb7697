// The played core has to be there before the window asks for its first snapshot.
import './mock'
import '../app/main'
