"""What gives way and when: results cut, demoted to one line, or trimmed near the window (C-1 to C-6, W-6).

How a result is told is in `context/observations`.
"""
