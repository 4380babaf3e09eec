"""What people bring along as Markdown files: commands of their own (X-7) and skills (X-2).

Pure: it reads texts that others have found. Where they lie is looked for in `app/extensions`.
"""
