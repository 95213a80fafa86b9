"""What gunicorn serves."""

from connector import create_app

app = create_app()
